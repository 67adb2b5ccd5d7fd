"""Scripts as Bash's grammar parses them: what a word is, what a command sees, what a subshell leaves behind."""

import pytest

from etl.importers.shell.follow import Shell


def followed(script: str) -> Shell:
    shell = Shell()
    shell.run(script)
    return shell


def words(script: str) -> list[list[str]]:
    return [[word for word, _ in command.words] for command in followed(script).commands]


def test_star_in_quotes_joins_an_array_to_one_argument():
    assert words('A=(--a 1 --b)\nrun "${A[*]} end"') == [["run", "--a 1 --b end"]]


def test_at_in_quotes_gives_one_argument_for_each_element():
    assert words('A=("x y" z)\nrun "${A[@]}"') == [["run", "x y", "z"]]


def test_a_variable_before_a_command_is_that_commands_own():
    shell = followed("N=8\nN=2 M=3 run")
    assert (shell.word("N"), shell.word("M")) == ("8", None)
    assert {name: str(value) for name, value in shell.commands[0].env.items()} == {"N": "2", "M": "3"}


def test_commands_in_a_substitution_are_seen_and_change_nothing():
    shell = followed("A=1\nID=$(A=2; sbatch --nodes=4 job.sh)")
    assert [w for w, _ in shell.commands[0].words] == ["sbatch", "--nodes=4", "job.sh"]
    assert shell.word("A") == "1"


def test_a_subshell_leaves_the_variables_as_they_are():
    assert followed("A=1\n( A=2 )").word("A") == "1"


def test_read_takes_a_here_document_into_a_variable():
    assert words("read -r -d '' CMD <<END\nrun --a 1\nEND\n$CMD") == [["run", "--a", "1"]]


@pytest.mark.parametrize(
    ("script", "value"),
    [
        ("X=${A:-7}", "7"),
        ("A=3\nX=$((A * 4 - 2))", "10"),
        ("A=a.b.c\nX=${A%%.*}", "a"),
        ("A=a.b.c\nX=${A#*.}", "b.c"),
        ("A=abcdef\nX=${A:1:3}", "bcd"),
        ("A=Ab\nX=${A,,}", "ab"),
        ("A=x-y\nX=${A/-/_}", "x_y"),
        ("X=$(echo $((2 * 3)))", "6"),
        ('X="a\nb $((1 + 1)) c"', "a\nb 2 c"),
        ("if [ 3 -gt 2 ] && [[ fp8 == fp* ]]; then X=y; else X=n; fi", "y"),
        ("case b in a) X=1;; b|c) X=2;; esac", "2"),
        ("for i in 1 2 3; do X=$X$i; done", "123"),
        ("! false && X=1", "1"),
    ],
)
def test_expansion(script, value):
    found = str(followed(f"X=\n{script}").variables["X"])
    assert found.replace(chr(1), "") == value


def test_words_keep_their_lines_in_a_continued_command():
    commands = followed("run \\\n  --a 1 \\\n  --b 2").commands
    assert [(word, line) for word, line in commands[0].words if word in {"--a", "--b"}] == [("--a", 2), ("--b", 3)]


def test_an_expansion_behind_a_continued_line_in_quotes_is_one():
    assert words('A="--a 1"\nC=" \\\n  run \\\n  $A \\\n  "\n$C') == [["run", "--a", "1"]]


@pytest.mark.parametrize(
    ("script", "value"),
    [
        ("X=$A/b$C.log", "1/b2.log"),
        ('X="q"n=$A,m=$C"z"', "qn=1,m=2z"),
        ("X=${A}_$C-$A", "1_2-1"),
        ('X="\\$A $A"', "$A 1"),
        ("X='$A'$A", "$A1"),
        ("X=\\$A", "$A"),
    ],
)
def test_several_names_in_one_word(script, value):
    shell = followed(f"A=1\nC=2\n{script}")
    assert shell.word("X") == value


def test_a_counted_loop_fills_an_array_that_printf_prints():
    script = """N=4
arr=()
for ((i=0; i<N; i++)); do
  if (( i < 1 )); then arr+=(0); else arr+=(1); fi
done
printf -v FREQ "[%s]" "$(IFS=', '; echo "${arr[*]}")"
run --freq "$FREQ"
"""
    assert words(script) == [["run", "--freq", "[0,1,1,1]"]]


def test_a_loop_without_known_bounds_leaves_its_variables_unknown():
    shell = followed("X=1\nfor ((i=0; i<$N; i++)); do X=2; done")
    assert shell.word("X") is None


def test_what_is_no_shell_becomes_one_word():
    assert words("A=<path to data>\nN=2\nrun --a [0]*$N+[1]*3 --b <file name> --c 1") == [
        ["run", "--a", "[0]*2+[1]*3", "--b", "<file name>", "--c", "1"]
    ]


def test_an_unfinished_script_still_gives_its_commands():
    assert ["run", "--a", "1"] in words("if true; then\nrun --a 1\n")
