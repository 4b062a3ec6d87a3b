/** Checks the server and the principal that a rule or an allow-list entry names. */
import { refuseFields } from '../../shared/errors/field-problems.ts';
import type { FieldProblem } from '../../shared/errors/portico-error.ts';
import { EVERYTHING, type NamedServer } from '../../shared/util/name-pattern.ts';
import { toStoredServer } from '../../servers/server-names.ts';
import type { Subject } from '../policy/rule.ts';
import { findUnknownPrincipals } from '../principals/principal-store.ts';

/**
 * Checks the names and resolves the server.
 * @param servers the registry, to resolve a server that is named exactly
 * @returns the pattern over servers as it is stored; `*` where none is given
 * @throws PorticoError `validation_failed` with each name that does not exist
 */
export async function checkNames(
  db: D1Database,
  {
    server: pattern = EVERYTHING,
    subject,
  }: { server?: string | undefined; subject?: Subject | undefined },
  servers: readonly NamedServer[],
): Promise<string> {
  const problems: FieldProblem[] = [];
  const server = toStoredServer(pattern, servers);
  if (server === undefined) {
    const message = `there is no server ${pattern}; use "*" in a pattern over names`;
    problems.push({ field: 'server', message });
  }
  if (subject?.kind === 'principal') {
    const unknown = await findUnknownPrincipals(db, [subject.id]);
    const message = 'there is no such principal';
    if (unknown.length > 0) problems.push({ field: 'subject.id', message });
  }
  refuseFields(problems);
  return server ?? pattern;
}
