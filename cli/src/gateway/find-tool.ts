/** Finds the tool with a given name, in any of the gateway's naming styles. Pure. */
import { editsWithin } from '../../../src/shared/util/nearest-name.ts';
import { EXIT, Failure } from '../failure.ts';
import type { Tool } from './mcp.ts';

/** Separates server and tool in a name, in every style. */
const SEPARATOR = /\.|:|__|\//;
/** The stand-in tool of a server that needs an account first (`src/gateway/stand-in.ts`). */
const STAND_IN = 'connect';
/** Most edits between a wrong name and a suggested one. */
const NEAR = 3;

/** @throws Failure where there is none, with the nearest names */
export function findTool(tools: readonly Tool[], wanted: string): Tool {
  const exact = tools.find(({ name }) => name === wanted);
  if (exact) return exact;
  const plain = toPlain(wanted);
  const [found, other] = tools.filter(({ name }) => toPlain(name) === plain);
  if (found && !other) return found;
  const [server] = plain.split('.', 1);
  const isOfServer = ({ name }: Tool) => toPlain(name).startsWith(`${server}.`);
  const [only, ...others] = tools.filter(isOfServer);
  if (only && others.length === 0 && toPlain(only.name) === `${server}.${STAND_IN}`) {
    const how = `portico accounts connect ${server}`;
    throw new Failure(
      `${server} has no tools before you connect an account; ${how}`,
      EXIT.notFound,
    );
  }
  const near = tools
    .map(({ name }) => ({ name, distance: distanceOf(name, wanted) }))
    .filter(({ name, distance }) => distance <= NEAR || name.endsWith(wanted))
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, 3)
    .map(({ name }) => name);
  const hint = near.length > 0 ? `did you mean ${near.join(' or ')}?` : 'see portico tools';
  throw new Failure(`there is no tool '${wanted}'; ${hint}`, EXIT.notFound);
}

const toPlain = (name: string) => name.replace(SEPARATOR, '.');

/** Edits between two short texts; for long or very different ones more than `NEAR`. */
function distanceOf(a: string, b: string): number {
  return (a.length > 200 ? undefined : editsWithin(a, b, NEAR)) ?? NEAR + 1;
}
