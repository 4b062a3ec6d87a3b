/** Completion scripts for three shells, generated from the tree of commands. Pure; every word is quoted for its shell. */
import type { CommandWords, Word } from './tree.ts';

/** A word in single quotes, for bash and zsh. */
const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
/** The same for fish, where a backslash is special within quotes. */
const fishQuote = (text: string) => `'${text.replaceAll(/[\\']/g, '\\$&')}'`;
const line = (text: string) => text.replaceAll(/\s+/g, ' ').trim();
const pathsBelow = (tree: readonly CommandWords[]) => tree.slice(1).map(({ path }) => path);

/** Values of options; they are completed wherever the option stands. */
function choicesOf(tree: readonly CommandWords[]): Map<string, readonly string[]> {
  return new Map(
    tree.flatMap(({ choices }) => choices.map(({ option, values }) => [option, values])),
  );
}

export function toBash(tree: readonly CommandWords[]): string {
  const words = ({ words: all }: CommandWords) => quote(all.map(({ text }) => text).join(' '));
  const choices = [...choicesOf(tree)].map(
    ([option, values]) => `    ${quote(option)}) words=${quote(values.join(' '))} ;;\n`,
  );
  return `# portico completion for bash: eval "$(portico completion bash)"
_portico() {
  local word=\${COMP_WORDS[COMP_CWORD]} at=portico words='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at \${COMP_WORDS[i]}" in
      ${pathsBelow(tree).map(quote).join(' | ')}) at="$at \${COMP_WORDS[i]}" ;;
    esac
  done
  case "$at" in
${tree.map(each => `    ${quote(each.path)}) words=${words(each)} ;;\n`).join('')}  esac
  case "\${COMP_WORDS[COMP_CWORD - 1]}" in
${choices.join('')}  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _portico portico
`;
}

export function toZsh(tree: readonly CommandWords[]): string {
  const item = ({ text, description }: Word) =>
    quote(`${text.replaceAll(':', '\\:')}:${line(description)}`);
  const choices = [...choicesOf(tree)].map(
    ([option, values]) => `    ${quote(option)}) names=(${values.map(quote).join(' ')}) ;;\n`,
  );
  return `#compdef portico
# portico completion for zsh: eval "$(portico completion zsh)"
_portico() {
  local at=portico i
  local -a names
  for ((i = 2; i < CURRENT; i++)); do
    case "$at \${words[i]}" in
      ${pathsBelow(tree).map(quote).join(' | ')}) at="$at \${words[i]}" ;;
    esac
  done
  case "$at" in
${tree.map(each => `    ${quote(each.path)}) names=(${each.words.map(item).join(' ')}) ;;\n`).join('')}  esac
  case "\${words[CURRENT - 1]}" in
${choices.join('')}  esac
  _describe portico names || _files
}
compdef _portico portico
`;
}

/** fish flags for an option's value: none, text without file names, or a file. */
const FISH_VALUES = { none: '', text: ' -x', file: ' -r -F' };

export function toFish(tree: readonly CommandWords[]): string {
  const lines = tree.flatMap(({ path, words, takesFile, choices }) => {
    const condition = `-n ${fishQuote(`test (__portico_at) = ${fishQuote(path)}`)}`;
    const values = new Map(choices.map(({ option, values: all }) => [option, all]));
    const files = takesFile ? [`complete -c portico ${condition} -F`] : [];
    const offered = words.map(({ text, description, takes }) => {
      const about = `-d ${fishQuote(line(description))}`;
      if (!text.startsWith('-'))
        return `complete -c portico ${condition} -a ${fishQuote(text)} ${about}`;
      if (!text.startsWith('--'))
        return `complete -c portico ${condition} -s ${text.slice(1)} ${about}`;
      const given = values.get(text);
      const value = given ? ` -x -a ${fishQuote(given.join(' '))}` : FISH_VALUES[takes ?? 'none'];
      return `complete -c portico ${condition} -l ${text.slice(2)}${value} ${about}`;
    });
    return [...files, ...offered];
  });
  return `# portico completion for fish: portico completion fish | source
function __portico_at
    set -l at portico
    set -l typed (commandline -opc)
    for word in $typed[2..-1]
        switch "$at $word"
            case ${pathsBelow(tree).map(fishQuote).join(' ')}
                set at "$at $word"
        end
    end
    echo $at
end
complete -c portico -f
${lines.join('\n')}
`;
}
