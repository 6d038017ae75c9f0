/**
 * The scripts for shells. They call the program at each tab, so that a completion is never that of another version. The first line of an answer is
 * `files` if names of files are wanted as well, otherwise `-`. Each other line is a word, a tab and its description.
 */

const bash = `# daybook for bash: source <(daybook completion bash)
_daybook() {
  local line kind
  COMPREPLY=()
  {
    read -r kind || return 0
    while IFS= read -r line; do
      line=\${line%%$'\\t'*}
      # A name may have characters that this shell would obey.
      if [[ $line == *[!A-Za-z0-9_.,:=@%+/-]* ]]; then printf -v line %q "$line"; fi
      COMPREPLY+=("$line")
    done
  } < <("$1" completion words --joined -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  if [[ $kind == files ]]; then compopt -o default 2>/dev/null; fi
  # Behind what has still to be typed there is no blank.
  if [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == *= ]]; then compopt -o nospace 2>/dev/null; fi
}
complete -F _daybook daybook
`

const zsh = `#compdef daybook
# daybook for zsh: source <(daybook completion zsh), or this as a file _daybook in a folder of $fpath
_daybook() {
  local -a lines items
  local line word about
  lines=("\${(@f)$("\${words[1]}" completion words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  for line in "\${(@)lines[2,-1]}"; do
    word=\${line%%$'\\t'*}
    about=\${line#*$'\\t'}
    items+=("\${word//:/\\\\:}:\${about}")
  done
  if (( \${#items} )); then
    if [[ \${#items} -eq 1 && \${word} == *= ]]; then _describe -V daybook items -S ''; else _describe -V daybook items; fi
  fi
  if [[ \${lines[1]} == files ]]; then _files; fi
}
# Loaded as a function of $fpath it is called; sourced it is only declared.
if [[ \${funcstack[1]} == _daybook ]]; then _daybook "$@"; else compdef _daybook daybook; fi
`

const fish = `# daybook for fish: daybook completion fish > ~/.config/fish/completions/daybook.fish
function __daybook_complete
    set -l words (commandline -opc)
    set -l lines ($words[1] completion words -- $words[2..-1] (commandline -ct) 2>/dev/null)
    if test "$lines[1]" = files
        __fish_complete_path (commandline -ct)
    end
    if set -q lines[2]
        printf '%s\\n' $lines[2..-1]
    end
end
complete -c daybook -f -a '(__daybook_complete)'
`

export const completionScripts = { bash, zsh, fish } as const
export type Shell = keyof typeof completionScripts
