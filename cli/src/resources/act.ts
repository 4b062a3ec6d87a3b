/** The actions of the resource commands: one or a few requests each, and the message about the result. */
import { kindOf } from '../configuration/kinds.ts';
import { createNames, type Named, type Names } from '../configuration/names.ts';
import { EXIT, Failure } from '../failure.ts';
import { apiOf, type ApiOptions } from '../gateway/api-command.ts';
import { findRecord, ifStill, type Api } from '../gateway/api.ts';
import { readInput, readValue } from '../input.ts';
import { visible } from '../output/table.ts';
import { note, writeJson, writeTable } from '../terminal.ts';
import { readBody, readFields, toText, type Body } from './body.ts';
import { editedFieldsOf, type Field, type Resource } from './resource.ts';
import { readSubject, toSubjectText, type Subject } from './subject.ts';

/** Options of a command, in addition to those of its fields. */
export type Options = ApiOptions & Body & { from?: string; fromEnv?: string };
type View = Partial<Named> & { subject?: Subject; origins?: string[]; revision?: number };

export async function listRecords(resource: Resource, options: Options): Promise<void> {
  const api = apiOf(options);
  const views = await viewsOf(api, resource);
  if (options.json) return writeJson(views);
  if (views.length === 0) return note(resource.none);
  const names = await namesFor(api, views);
  const rows = views.map(view => resource.columns.map(([, cell]) => cell(view, names)));
  const heading = resource.columns.map(([title]) => title);
  await writeTable(heading, rows, resource.look);
  const beside = await resource.beside?.(api, views);
  if (beside !== undefined) note(beside);
}

export async function showRecord(
  resource: Resource,
  wanted: string,
  options: Options,
): Promise<void> {
  const api = apiOf(options);
  const { view } = await find(api, resource, wanted);
  const whole = { ...view, ...(await resource.whatElse?.(api, wanted)) };
  if (options.json) return writeJson(whole);
  const names = await namesFor(api, [view]);
  const { subject } = view;
  const rows = Object.entries(whole).map(([field, value]) => [
    field,
    field === 'subject' && subject ? toSubjectText(subject, names) : toText(value),
  ]);
  await writeTable(['FIELD', 'VALUE'], rows, { last: 'wrap' });
}

/** @param name absent for records without names */
export async function makeRecord(
  resource: Resource,
  name: string | undefined,
  options: Options,
): Promise<void> {
  const api = apiOf(options);
  const body = await bodyOf(api, resource.fields, options);
  const view = await api.post<View>(resource.path, name === undefined ? body : { ...body, name });
  await tell(resource, view, 'is created', options);
}

export async function editRecord(
  resource: Resource,
  wanted: string,
  options: Options,
): Promise<void> {
  const api = apiOf(options);
  const body = await bodyOf(api, editedFieldsOf(resource), options);
  if (Object.keys(body).length === 0) {
    const hint = `see portico ${resource.name} edit --help`;
    throw new Failure(`nothing to change is given; ${hint}`, EXIT.usage);
  }
  const { path } = await find(api, resource, wanted);
  const view = await api.json<View>('PATCH', path, JSON.stringify(body));
  await tell(resource, view, 'is changed', options);
}

export async function putValue(resource: Resource, name: string, options: Options): Promise<void> {
  const value = await readValue(options.fromEnv);
  const api = apiOf(options);
  const known = (await viewsOf(api, resource)).find(each => each.name === name);
  const body = { origins: known?.origins, ...readFields(resource.fields, options) };
  if (body.origins === undefined) {
    throw new Failure(`${name} is new; add --origin: where it may be sent`, EXIT.usage);
  }
  const path = `${resource.path}/${encodeURIComponent(name)}`;
  const text = JSON.stringify({ ...body, value });
  const view = await api.json<View>('PUT', path, text, ifStill(known?.revision));
  await tell(resource, view, known ? 'has a new value' : 'is created', options);
}

export async function removeRecord(
  resource: Resource,
  wanted: string,
  options: Options,
): Promise<void> {
  const api = apiOf(options);
  const { path, view } = await find(api, resource, wanted);
  await api.json('DELETE', path);
  if (options.json) return writeJson({ removed: idOf(view) });
  await tell(resource, view, 'is removed', options);
}

const viewsOf = (api: Api, { path, list }: Pick<Resource, 'path' | 'list'>) =>
  api.list<View>(path, list);
/** A rule has no name; groups and secrets have only a name as id. */
const idOf = ({ id, name }: View): string => id ?? name ?? '';
const nameOf = ({ id, name }: View): string => name ?? id ?? '';

async function find(
  api: Api,
  resource: Pick<Resource, 'noun' | 'path' | 'list'>,
  wanted: string,
): Promise<{ id: string; path: string; view: View }> {
  const views = await viewsOf(api, resource);
  const all = views.map(view => ({ id: idOf(view), name: nameOf(view), view }));
  const { id, view } = findRecord(resource.noun, wanted, all);
  return { id, path: `${resource.path}/${encodeURIComponent(id)}`, view };
}

/** Names of principals for the subject column; read only where a subject is a principal. */
async function namesFor(api: Api, views: readonly View[]): Promise<Names> {
  const isNeeded = views.some(({ subject }) => subject?.kind === 'principal');
  const { path, list } = kindOf('principal');
  const principals = isNeeded ? await api.list<Named>(path, list) : [];
  return createNames({}, { servers: [], connectors: [], principals });
}

/** Returns the id of the principal with this name or id. @throws Failure where there is none, or more than one */
export const findPrincipalId = async (api: Api, name: string): Promise<string> =>
  (await find(api, kindOf('principal'), name)).id;

/** The JSON of `--from`, overridden by the options. */
async function bodyOf(api: Api, fields: readonly Field[], options: Options): Promise<Body> {
  const { from } = options;
  const given = from === undefined ? {} : readBody(await readInput(from), from);
  const said = readFields(fields, options);
  const { subject } = said;
  if (typeof subject !== 'string') return { ...given, ...said };
  const findPrincipal = (name: string) => findPrincipalId(api, name);
  return { ...given, ...said, subject: await readSubject(subject, findPrincipal) };
}

async function tell(
  { noun }: Resource,
  view: View,
  what: string,
  { json }: Options,
): Promise<void> {
  if (json) return writeJson(view);
  const { id, name } = view;
  const called = name === undefined ? `${noun} ${id}` : `${noun} '${name}'`;
  note(visible(`${called} ${what}`));
}
