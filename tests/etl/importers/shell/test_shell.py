"""The static shell reader: assignments, arrays, arithmetic and branches over known values; nothing is run."""

from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from etl.importers.problems import ImporterError
from etl.importers.shell import arithmetic
from etl.importers.shell.follow import Shell
from etl.importers.shell.values import Rope


def after(script: str) -> Shell:
    shell = Shell()
    shell.run(script)
    return shell


def words(script: str) -> list[str]:
    return [word for word, _ in after(script).commands[-1].words]


def test_arrays_keep_comments_out_and_grow():
    assert words("A=(--x 1 # --y 2\n  --z 3)\nA+=(--w)\nrun ${A[@]}") == ["run", "--x", "1", "--z", "3", "--w"]


def test_an_element_with_a_blank_splits_when_unquoted_and_stays_whole_when_quoted():
    script = 'A=("--fp8-format hybrid" --bf16)\n'
    assert words(script + "run ${A[@]}") == ["run", "--fp8-format", "hybrid", "--bf16"]
    assert words(script + 'run "${A[@]}"') == ["run", "--fp8-format hybrid", "--bf16"]


def test_defaults_hold_when_no_file_sets_the_variable():
    assert words('N=${NODES:-"4"}\nrun $N ${1:-7} ${M:-$N}') == ["run", "4", "7", "4"]


def test_arithmetic_is_integer_from_left_to_right():
    assert words("W=500\nrun $((W + 39 * 500)) $((7 / 2 * 2)) $(( (W>1) ? 3 : 4 ))") == ["run", "20000", "6", "3"]


def test_command_substitution_is_never_run_and_its_value_unknown():
    shell = after("X=$(rm -rf /nonexistent)\nY=`date`\nrun $X $Y")
    assert shell.word("X") is None
    assert shell.word("Y") is None


def test_pure_echo_and_expr_are_arithmetic():
    assert words('G=8\nrun $(expr $G \\* 4) $(echo "$G * 2" | bc)') == ["run", "32", "16"]


def test_a_branch_over_known_text_is_taken():
    script = 'D=fp8\nif [[ "$D" == "fp8" ]]; then X=1; elif [ $D = bf16 ]; then X=2; else X=3; fi\nrun $X'
    assert words(script) == ["run", "1"]
    assert words(script.replace("D=fp8", "D=bf16")) == ["run", "2"]


def test_a_branch_that_the_machine_decides_leaves_its_variable_unknown():
    assert after("X=1\nif [ -f /etc/x ]; then X=2; fi").word("X") is None
    assert after("X=1\nif [ -f /etc/x ]; then Y=2; fi").word("X") == "1"


def test_an_undecided_addition_leaves_the_rest_of_an_array_known():
    assert words("A=(--x 1)\nif [ -d y ]; then A+=(--y 2); fi\nrun ${A[@]}")[:3] == ["run", "--x", "1"]


def test_a_table_of_cases_follows_the_assigned_value():
    script = "S=9B\ncase $S in\n 7B) L=32 ;;\n 9*|10B) L=36 ;;\n *) L=1 ;;\nesac\nrun $L"
    assert words(script) == ["run", "36"]


def test_a_function_gets_its_arguments():
    assert words("go() { local n=$1; run --n $n; }\ngo 5") == ["run", "--n", "5"]


def test_a_quoted_command_over_many_lines_is_one_command_with_or_without_backslash():
    script = "bash -c 'train --a 1 \\\n --b 2\n --c 3'"
    assert words(script) == ["train", "--a", "1", "--b", "2", "--c", "3"]


def test_here_documents_are_filled_with_values():
    assert '"stage": 1' in str(after('Z=1\ncat <<EOT > f\n{"stage": $Z}\nEOT').documents[0])
    assert '"stage": $Z' in str(after("Z=1\ncat <<'EOT' > f\n{\"stage\": $Z}\nEOT").documents[0])


def test_a_flag_keeps_the_line_it_stood_on():
    shell = after("A=(\n --x 1\n)\nB=' \\\n --y 2 \\\n'\nrun ${A[@]} $B")
    assert dict(shell.commands[-1].words)["--x"] == 2
    assert dict(shell.commands[-1].words)["--y"] == 5


def test_strings_are_cut_and_changed():
    assert words("P=/a/b/c.json\nrun ${P##*/} ${P%.json} ${P/a/z} ${#A[@]}")[:4] == [
        "run",
        "c.json",
        "/a/b/c",
        "/z/b/c.json",
    ]


@given(st.integers(0, 10**6), st.integers(1, 10**6), st.integers(0, 1000))
def test_arithmetic_agrees_with_python_on_whole_numbers(a, b, c):
    assert arithmetic.evaluate(f"({a} / {b}) * {c} + {a} % {b} - {c}", {}.get) == (a // b) * c + a % b - c


@given(st.text(alphabet="$(){}[]`'\"\\ \n#;&|<>=+-ab1*?!@~:%/^,", max_size=60))
def test_any_text_is_followed_to_its_end_or_refused(script):
    shell = Shell()
    with suppress(ImporterError):
        shell.run(script)
    assert all(isinstance(value, Rope | list | dict) for value in shell.variables.values())
