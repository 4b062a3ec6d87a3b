/**
 * The names of one server on an endpoint of many: the suite knows its tools, prompts and resources by their own names, so what it asks
 * for is qualified, and what it is answered is made plain again. Pure.
 */
import { toQualifiedUri } from '../../src/shared/naming/qualified-uri.ts';

type Members = Record<string, unknown>;

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export interface Naming {
  /** The body of a request, as the suite wrote it where it is no message. */
  request(body: string): string;
  /** What the header `Mcp-Name` repeats of a request of this method. */
  header(method: string, value: string): string;
  /** The body of an answer, or whole lines of it. */
  answer(text: string): string;
}

/** Methods whose header repeats a name, and those where it is a URI; the ids of tasks stay. */
const NAMED = new Set(['tools/call', 'prompts/get']);
const READ = 'resources/read';

/** @param server a name that the suite itself never says */
export function namingOf(server: string): Naming {
  const toName = (name: unknown) => (typeof name === 'string' ? `${server}.${name}` : name);
  const toUri = (uri: unknown) => (typeof uri === 'string' ? toQualifiedUri(server, uri) : uri);

  /** The members of an object that name something, qualified. */
  function qualified(given: Members): Members {
    const { name, uri } = given;
    return {
      ...given,
      ...(name === undefined ? {} : { name: toName(name) }),
      ...(uri === undefined ? {} : { uri: toUri(uri) }),
    };
  }

  function toParams(method: unknown, params: Members): Members {
    const { ref, notifications } = params;
    if (isMembers(ref)) return { ...params, ref: qualified(ref) };
    const uris = isMembers(notifications) ? notifications['resourceSubscriptions'] : undefined;
    if (isMembers(notifications) && Array.isArray(uris)) {
      const wanted = { ...notifications, resourceSubscriptions: uris.map(toUri) };
      return { ...params, notifications: wanted };
    }
    return /^(?:tools|prompts|resources)\//u.test(String(method)) ? qualified(params) : params;
  }

  return {
    request(body) {
      try {
        const message: unknown = JSON.parse(body);
        if (!isMembers(message) || !isMembers(message['params'])) return body;
        const params = toParams(message['method'], message['params']);
        return JSON.stringify({ ...message, params });
      } catch {
        return body;
      }
    },
    header: (method, value) =>
      NAMED.has(method) ? String(toName(value)) : method === READ ? String(toUri(value)) : value,
    answer: text => text.replaceAll(`${server}.`, '').replaceAll(`${server}+`, ''),
  };
}
