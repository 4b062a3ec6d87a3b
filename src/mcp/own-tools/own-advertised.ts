/**
 * What an endpoint with the gateway's own tools advertises. Its instructions say how to use the three meta tools and which servers are
 * behind them: only those that this caller may use, so that a caller without access learns of none.
 */
import type { AdvertisedCapabilities, Gateway } from '../../gateway/gateway.ts';
import { isOffered } from '../../servers/registry/status.ts';
import { hasScope } from '../../shared/identity/principal.ts';
import { toOneLine } from '../../shared/util/one-line.ts';
import type { EndpointViewer } from '../endpoint.ts';

/** Most servers that are named, longest description and name of one, and longest text about all, in UTF-16 units. */
const MAX_SERVERS = 60;
const MAX_ABOUT_CHARS = 100;
const MAX_NAME_CHARS = 100;
const MAX_ALL_CHARS = 4_000;

const HOW =
  'The tools here are found by search: search_tools with a few English words for each task, then call_tool with a name it gave. ' +
  'A hit says what the tool takes; describe_tool shows the whole schema where the hit has `~`.';

/** A server's name, and its operator's description. */
interface Named {
  name: string;
  description: string;
}

/** Returns what an endpoint advertises; a list of the gateway's own tools is advertised as one that never changes. */
export async function toOwnAdvertised(
  gateway: Pick<Gateway, 'visible'>,
  advertised: AdvertisedCapabilities,
  viewer: EndpointViewer,
): Promise<AdvertisedCapabilities> {
  if (viewer.tools === 'all') return advertised;
  const { instructions, ...rest } = advertised;
  const isOwn = viewer.naming.kind === 'own';
  // Instructions of many servers about unlisted tools would cost a host what the short list saves it.
  const kept = isOwn && instructions !== undefined ? instructions : await ownWords(gateway, viewer);
  const said = kept === undefined ? {} : { instructions: kept };
  return { ...rest, ...said, capabilities: { ...advertised.capabilities, tools: {} } };
}

async function ownWords(
  gateway: Pick<Gateway, 'visible'>,
  viewer: EndpointViewer,
): Promise<string | undefined> {
  if (viewer.tools !== 'search' || !hasScope(viewer.caller, 'tools:read')) return undefined;
  const { servers } = await gateway.visible(viewer);
  return toInstructions(servers.filter(({ status }) => isOffered(status)));
}

/** How to use the three meta tools, and one line for each server. */
export function toInstructions(servers: readonly Named[]): string {
  const lines: string[] = [];
  let chars = 0;
  for (const { name, description } of servers) {
    const about = toOneLine(description, MAX_ABOUT_CHARS);
    const line = `- ${toOneLine(name, MAX_NAME_CHARS)}${about === '' ? '' : `: ${about}`}`;
    chars += line.length;
    if (lines.length === MAX_SERVERS || chars > MAX_ALL_CHARS) break;
    lines.push(line);
  }
  if (lines.length === 0) return HOW;
  const left = servers.length - lines.length;
  const more = left > 0 ? [`- and ${left} more`] : [];
  return [HOW, '', 'Servers here:', ...lines, ...more].join('\n');
}
