/** What a resource of the command line says of itself (`resources.ts` has them all). */
import type { Names } from '../configuration/names.ts';
import type { Api } from '../gateway/api.ts';
import type { TableLook } from '../terminal.ts';

/** A field that an option says. */
export interface Field {
  /** What the API calls it. */
  field: string;
  /** As commander takes them; what the option is called is up to them. */
  flags: string;
  about: string;
  takes: 'text' | 'number' | 'list' | 'flag' | 'subject';
  choices?: readonly string[];
}

export interface Described<View> {
  /** The command. */
  name: string;
  noun: string;
  /** What a summary calls them, where the command does not say it. */
  called?: string;
  path: string;
  /** Member of a page that has the records. */
  list: string;
  /** What is said where there is none. */
  none: string;
  columns: readonly (readonly [heading: string, cell: (view: View, names: Names) => string])[];
  /**
   * How one is written: `records` are made by one request and edited by another, `named` ones have a name that is given to each;
   * a `value` is put under its name and never shown; `elsewhere`: by commands of their own; `derived` ones are not written.
   */
  written: 'records' | 'named' | 'value' | 'elsewhere' | 'derived';
  fields: readonly Field[];
  /** How a list is written, and what is said below it. */
  look?: TableLook;
  beside?(api: Api, views: readonly View[]): Promise<string | undefined>;
  /** What `show` says beside the record itself. */
  whatElse?(api: Pick<Api, 'list'>, name: string): Promise<object>;
  /** What stands for one of them in examples, command lines that make one, and what an edit may say. */
  example: { id: string; new?: readonly string[]; edit?: string; json?: string };
  /** What goes with one that is removed. */
  removal?: string;
}
export type Resource = Described<object>;

/** A resource among others. */
export const describe = <View>(described: Described<View>): Resource =>
  described as unknown as Resource;

/** An option that says a field as text. */
export const text = (field: string, flags: string, about: string): Field => ({
  field,
  flags,
  about,
  takes: 'text',
});

/** A name is given to a new one, and may be another later. */
export const editedFieldsOf = ({ written, fields }: Resource): readonly Field[] =>
  written === 'named' ? [text('name', '--name <name>', 'another name'), ...fields] : fields;
