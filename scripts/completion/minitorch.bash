# Bash completion of the programs: options as the program's own --help lists them, their choices where it names them in
# braces, and names of files or folders. Installed once under each program's name, as bash-completion looks for it;
# `source` of this file does as well.

# _minitorch_names -f|-d WORD: files or folders that begin with WORD, as it was typed.
_minitorch_names() {
  local word=${2#[\"\']}
  word=${word//\\/}
  compopt -o filenames 2>/dev/null || true  # bash says no when it is not completing
  mapfile -t COMPREPLY < <(compgen "$1" -- "$word")
}

# _minitorch PROGRAM WORD PREVIOUS: called by bash, with COMP_WORDS and COMP_CWORD.
_minitorch() {
  local program=${1/#\~\//$HOME/} word=$2 option=$3 help kind choices
  COMPREPLY=()
  # --option=value comes as three words.
  if [[ $word == = ]]; then
    word=
  elif [[ $option == = ]] && ((COMP_CWORD >= 2)); then
    option=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  help=$("$program" --help 2>/dev/null </dev/null) || return 0
  if [[ $option == --* ]]; then
    # What the option takes stands behind it after one blank: "--json FILE", "--stage TEXT:{all,target}=all".
    kind=$(sed -nE "s/^  (-[^ ]*,)?$option ([A-Z][^ ]*)( .*)?\$/\\2/p" <<<"$help")
    case $kind in
      "") ;;
      *{*}*)
        choices=${kind#*\{}
        choices=${choices%%\}*}
        mapfile -t COMPREPLY < <(compgen -W "${choices//,/ }" -- "$word")
        return 0
        ;;
      FILE*) _minitorch_names -f "$word" && return 0 ;;
      DIR*) _minitorch_names -d "$word" && return 0 ;;
      *) return 0 ;;
    esac
  fi
  if [[ $word == -* ]]; then
    choices=$(sed -nE 's/^  (-[^ ]+).*/\1/p' <<<"$help" | tr ',' ' ')
    mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$word")
  else
    _minitorch_names -f "$word"
  fi
}

complete -F _minitorch run_spec_decoding tokenize inspect_model quantize train_tiny_r1
