/** The subject of a rule as one word: `everyone`, `group:staff`, `principal:Ada`. Pure. */
import type { Subject } from '../../../src/access/policy/rule.ts';
import type { Names } from '../configuration/names.ts';
import { EXIT, Failure } from '../failure.ts';

export type { Subject };

/** A principal is written by name, or by id where the name is ambiguous. */
export function toSubjectText(subject: Subject, { principal }: Pick<Names, 'principal'>): string {
  if (subject.kind === 'everyone') return subject.kind;
  const name = subject.kind === 'group' ? subject.name : principal(subject.id);
  return `${subject.kind}:${name}`;
}

/**
 * @param findPrincipal returns the id for a name or an id
 * @throws Failure where the text is not a subject, and what `findPrincipal` throws
 */
export async function readSubject(
  text: string,
  findPrincipal: (name: string) => Promise<string>,
): Promise<Subject> {
  const at = text.indexOf(':');
  const [kind, name] = at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
  if (kind === 'everyone' && at === -1) return { kind };
  if (kind === 'group' && name !== '') return { kind, name };
  if (kind === 'principal' && name !== '') return { kind, id: await findPrincipal(name) };
  const hint = 'write everyone, group:NAME or principal:NAME';
  throw new Failure(`'${text}' is not a subject; ${hint}`, EXIT.usage);
}
