/** Shared steps of the access matrices: iterate over all tools of the team, and compare responses about hidden and unknown tools. */
import type { Answer } from './raw-client.ts';
import { SERVERS, TOOL_NAMES, type ServerName } from './team.ts';

/** An unknown tool, with a name of the same length. */
export const NOBODYS = 'gone_00';
const AT_ONCE = 8;

/** Returns all of a response except what always differs, with a name and its length blanked out. */
export function seen(
  { status, headers, text }: Pick<Answer, 'status' | 'headers' | 'text'>,
  name: string,
): string {
  const length =
    Number(headers.get('content-length')) - (text.split(name).length - 1) * name.length;
  const kept = [...headers].filter(([header]) => header !== 'date' && header !== 'content-length');
  return JSON.stringify([status, length, kept.toSorted(), text]).replaceAll(name, 'NAME');
}

/** Runs `work` for all pairs of server and tool, several at once. */
export async function forEachTool(
  work: (server: ServerName, tool: string, i: number) => Promise<void>,
): Promise<void> {
  const all = SERVERS.flatMap(server => TOOL_NAMES.map(tool => [server, tool] as const));
  let next = 0;
  const run = async () => {
    for (let i = next++; i < all.length; i = next++) {
      const [server, tool] = all[i] ?? ['alpha', ''];
      await work(server, tool, i);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, run));
}
