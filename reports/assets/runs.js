// Sorting, searching, filtering, choosing columns and downloading; without it the table is plain HTML.
(() => {
  const words = JSON.parse(document.getElementById("words").textContent);
  const shown = Number(document.getElementById("runs").dataset.shown);
  const heads = [...document.querySelectorAll("#runs thead th")].map((head) => head.dataset.key);
  const exported = { format: { header: (_, place) => heads[place], body: (_, __, ___, node) => node.dataset.raw ?? "" } };
  let table = null;

  const filters = [...document.querySelectorAll("select[data-column]")];
  const matches = (settings, _, index) => filters.every((select) =>
    !select.value || settings.aoData[index].anCells[Number(select.dataset.column)].dataset.raw === select.value);

  const open = () => {
    const said = words[prefs.lang()];
    const state = table ? { search: table.search(), order: table.order(), visible: table.columns().visible().toArray() } : null;
    if (table) { table.destroy(); }
    table = new DataTable("#runs", {
      paging: false, autoWidth: false, order: state?.order ?? [[2, "desc"]], search: { search: state?.search ?? prefs.state().q ?? "" },
      columnDefs: heads.map((_, place) => ({ targets: place, visible: state ? state.visible[place] : place < shown })),
      layout: { topStart: { buttons: [{ extend: "colvis", text: said.columns }, { extend: "csvHtml5", text: said.csv, filename: "shardbook-runs", title: null, exportOptions: { ...exported } }] }, topEnd: "search", bottomStart: "info", bottomEnd: null },
      language: { search: said.search, info: said.info, infoEmpty: said.infoEmpty, infoFiltered: said.infoFiltered, zeroRecords: said.zeroRecords },
    });
    document.querySelector(".dt-info")?.setAttribute("aria-live", "polite");
  };
  DataTable.ext.search.push(matches);
  prefs.start();
  open();
  prefs.onChange(open);
  filters.forEach((select) => select.addEventListener("change", () => table.draw()));
})();
