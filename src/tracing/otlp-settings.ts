/** The deployment's settings for where its traces are sent. */
import { z } from 'zod';
import { withoutEnd } from '../shared/util/without-end.ts';

export interface OtlpSettings {
  /** URL that traces are posted to. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The members of the settings schema. */
export const OTLP_SETTINGS = {
  PORTICO_OTLP_URL: z.union([z.literal(''), z.url({ protocol: /^https?$/ })]).default(''),
  PORTICO_OTLP_HEADERS: z.string().max(8_192).default(''),
};
const SettingsSchema = z.object(OTLP_SETTINGS);

const TRACES_PATH = '/v1/traces';
const MAX_HEADERS = 16;
/** Headers that the request sets itself. */
const OWN_HEADERS = new Set(['content-type', 'content-length', 'host']);
const NAME = /^[\w!#$%&'*+.^`|~-]{1,128}$/;
const VALUE = /^[\x20-\x7e]{0,4096}$/;

/**
 * Returns where traces are sent; undefined if nowhere. A URL that does not end in `/v1/traces` gets that suffix, as OTLP's exporter
 * specification defines it for the base URL of all signals; the headers follow that specification's format too.
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
    throw new Error('Setting PORTICO_OTLP_URL: credentials belong in PORTICO_OTLP_HEADERS');
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
      throw new Error(
        `Setting PORTICO_OTLP_HEADERS: entry ${at + 1} is not name=value of a header`,
      );
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
