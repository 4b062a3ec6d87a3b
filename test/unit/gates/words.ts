/**
 * One word for each thing, and the field's word where it has one (docs/glossary.md). The words that only this project used are refused in
 * file names and declarations.
 */
import ts from 'typescript';

/** The refused words, each with its replacement. */
export const REFUSED: Readonly<Record<string, string>> = {
  acts: 'adminAudit',
  askable: 'client capabilities',
  deaf: 'lacksStream',
  destination: 'upstream endpoint',
  door: 'source',
  ear: 'listener',
  face: 'adapter',
  farewell: 'closing message',
  ghost: 'cancelled call',
  hearing: 'reading',
  hub: 'canonical form',
  keeper: 'writer',
  lose: 'warn',
  mailbox: 'AsyncQueue',
  manner: 'negotiated protocol',
  narrowed: 'restrictToCaller',
  news: 'events',
  outlet: 'fetch',
  park: 'suspend',
  parked: 'suspended',
  patience: 'retry',
  patiently: 'retry',
  person: 'prompter',
  pin: 'approval',
  pinning: 'approval',
  poke: 'wake',
  poked: 'wake',
  reach: 'VisibleServers',
  seat: 'acquire',
  shield: 'address limit',
  sight: 'view',
  tame: 'bounded',
  teller: 'notifier',
  untold: 'pending',
  wish: 'directive',
  withdrawal: 'cancellation',
};

/** Names defined outside of the code, with what they are. */
const KNOWN_OUTSIDE: Readonly<Record<string, string>> = {
  'src/agents/ask/ask-service.ts door': 'an attribute of spans',
  'src/gateway/steps/record.ts door': 'a member of the details of audit rows',
  'src/upstream/connector/frames.ts news':
    'a frame between a gateway and a connector of another version',
};

/** The old words in a name: `parkTimer` and `park-timer` contain `park`. Names like `a_b` are columns of the database and pass. */
export function oldWordsIn(name: string): string[] {
  if (/[a-z]_[a-z]/.test(name)) return [];
  const words = name.match(/[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])/g) ?? [];
  return words.flatMap(each => {
    const word = each.toLowerCase();
    return [word, word.replace(/s$/, '')].filter(form => form in REFUSED).slice(0, 1);
  });
}

/** The declarations of a file that use an old word, and its own name, one sentence each. */
export function checkWords({ path, text }: { path: string; text: string }): string[] {
  const found: string[] = [];
  const note = (name: string) => {
    for (const word of oldWordsIn(name)) {
      if (`${path} ${name}` in KNOWN_OUTSIDE) continue;
      found.push(`${path}: ${name} says ${word}; the word is ${REFUSED[word]}`);
    }
  };
  note((path.split('/').at(-1) ?? '').replace(/\.ts$/, ''));
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true);
  const visit = (node: ts.Node): void => {
    const name = (node as Partial<ts.NamedDeclaration>).name;
    const isDeclared = name && !ts.isPropertyAccessExpression(node);
    if (isDeclared && (ts.isIdentifier(name) || ts.isPrivateIdentifier(name))) note(name.text);
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return [...new Set(found)];
}
