/**
 * The qualified names of one server on an endpoint of many. The suite knows its tools, prompts and resources by their own names, so
 * requests are qualified and responses are stripped of the qualifier. Pure.
 */
import { toQualifiedUri } from '../../src/shared/naming/qualified-uri.ts';

type Members = Record<string, unknown>;

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export interface Naming {
  /** Returns the body of a request with qualified names; unchanged if it is no message. */
  request(body: string): string;
  /** Returns the value of the header `Mcp-Name` for a request of this method. */
  header(method: string, value: string): string;
  /** Strips the qualifier from the body of a response, or from whole lines of it. */
  answer(text: string): string;
}

/** Methods whose header repeats a name; below, the one where it repeats a URI. Task ids stay unchanged. */
const NAMED = new Set(['tools/call', 'prompts/get']);
const READ = 'resources/read';

/** @param server a name that does not occur in the suite */
export function namingOf(server: string): Naming {
  const toName = (name: unknown) => (typeof name === 'string' ? `${server}.${name}` : name);
  const toUri = (uri: unknown) => (typeof uri === 'string' ? toQualifiedUri(server, uri) : uri);

  /** Qualifies the members of an object that name something. */
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
