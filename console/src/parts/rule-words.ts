/** An access rule in words. Pure. */
import type { AccessRule } from '../generated/types.gen.ts';

/** Writes a rule as a sentence, without its description. @param whose name of the principal, for a rule for one principal */
export function toSentence(rule: AccessRule, whose: string): string {
  const { effect, subject, server, tool, read_only: isReadOnly } = rule;
  const who =
    subject.kind === 'everyone'
      ? 'everyone'
      : subject.kind === 'group'
        ? `the group ${subject.name}`
        : whose;
  const which = tool === '*' ? 'every tool' : `the tools ${tool}`;
  const where = server === '*' ? 'every server' : server;
  const only = isReadOnly ? ', if they are annotated read-only' : '';
  return `${effect === 'allow' ? 'Allows' : 'Denies'} ${who} ${which} of ${where}${only}`;
}
