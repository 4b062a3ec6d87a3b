/** The settings of a deployment that say where its traces are sent. */
import { z } from 'zod';
import { withoutEnd } from '../shared/util/without-end.ts';

export interface OtlpSettings {
  /** Where traces are posted. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The members of the settings' schema. */
export const OTLP_SETTINGS = {
  PORTICO_OTLP_URL: z.union([z.literal(''), z.url({ protocol: /^https?$/ })]).default(''),
  PORTICO_OTLP_HEADERS: z.string().max(8_192).default(''),
};
const SettingsSchema = z.object(OTLP_SETTINGS);

const TRACES_PATH = '/v1/traces';
const MAX_HEADERS = 16;
/** What the request itself says. */
const OWN_HEADERS = new Set(['content-type', 'content-length', 'host']);
const NAME = /^[\w!#$%&'*+.^`|~-]{1,128}$/;
const VALUE = /^[\x20-\x7e]{0,4096}$/;

/**
 * Where traces go; undefined where they go nowhere. A URL without `/v1/traces` at its end gets it, as the specification of OTLP's
 * exporter has it for the base of all signals; so are the headers of its form.
 * @throws Error that names the setting, never its value
 */
export function toOtlpSettings(
  settings: z.infer<typeof SettingsSchema>,
  allowsLoopback: boolean,
): OtlpSettings | undefined {
  const headers = parseHeaders(settings.PORTICO_OTLP_HEADERS);
  if (settings.PORTICO_OTLP_URL === '') return undefined;
  const url = new URL(settings.PORTICO_OTLP_URL);
  if (!allowsLoopback && url.protocol !== 'https:') {
    throw new Error('Setting PORTICO_OTLP_URL: must be https');
  }
  if (url.username !== '' || url.password !== '') {
    throw new Error('Setting PORTICO_OTLP_URL: credentials belong into PORTICO_OTLP_HEADERS');
  }
  if (!url.pathname.endsWith(TRACES_PATH)) {
    url.pathname = `${withoutEnd(url.pathname, '/')}${TRACES_PATH}`;
  }
  return { url: url.href, headers };
}

function parseHeaders(text: string): Record<string, string> {
  const lines = text.split(',').filter(line => line.trim() !== '');
  const headers = lines.map((line, at) => {
    const equals = line.indexOf('=');
    const name = line.slice(0, Math.max(equals, 0)).trim();
    const raw = line.slice(equals + 1).trim();
    const value = decode(raw);
    const isTaken = OWN_HEADERS.has(name.toLowerCase());
    if (!NAME.test(name) || value === undefined || !VALUE.test(value) || isTaken) {
      throw new Error(`Setting PORTICO_OTLP_HEADERS: entry ${at + 1} is no name=value of a header`);
    }
    return [name.toLowerCase(), value] as const;
  });
  if (headers.length > MAX_HEADERS) {
    throw new Error(`Setting PORTICO_OTLP_HEADERS: more than ${MAX_HEADERS}`);
  }
  return Object.fromEntries(headers);
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
