/** The file on this machine where a host keeps a server, and its current content. */
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { EXIT, Failure } from '../failure.ts';
import { readServer, type Configured } from './configured.ts';
import { readConfiguration } from './files.ts';
import { HOSTS, type Host, type Machine } from './hosts.ts';
import { NotEditable } from './not-editable.ts';

/** Options of the commands that choose it. */
export interface PlaceOptions {
  name: string;
  scope?: 'user' | 'project';
}

export interface Place {
  host: Host;
  name: string;
  file: string;
  /** Whether it is a project's file, which others read too. */
  isShared: boolean;
  text: string;
  found: Configured | undefined;
}

/** Server names that every host accepts. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/;
/** The project file of Claude Code. */
const PROJECT_FILE = '.mcp.json';

export const thisMachine = (): Machine => ({
  platform: process.platform,
  home: homedir(),
  env: process.env,
});

/** @throws Failure where there is no such host or scope, or its file cannot be read */
export async function openPlace(id: string, { name, scope }: PlaceOptions): Promise<Place> {
  const host = HOSTS.find(each => each.id === id);
  if (!host) throw new Failure(`'${id}' is not a client; see portico client list`, EXIT.usage);
  if (!NAME.test(name)) {
    throw new Failure('--name must be 1 to 64 letters, digits, - or _', EXIT.usage);
  }
  const isShared = scope === 'project';
  if (isShared && host.id !== 'claude-code') {
    throw new Failure('--scope project is only for claude-code', EXIT.usage);
  }
  const file = isShared ? resolve(PROJECT_FILE) : host.files(thisMachine()).file;
  const text = await readConfiguration(file);
  const found = whole(file, () => readServer(host.entry, text, name));
  return { host, name, file, isShared, text, found };
}

/** Reads or edits a file's text. @throws Failure that names the file */
export function whole<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof NotEditable)) throw error;
    throw new Failure(`${file} ${error.message}; nothing was changed`);
  }
}
