/** A generated request, and its answers. */

/** A generated request. */
export interface MadeRequest {
  query: string;
  /** Ids of tools by task: one set for each thing that is requested. */
  tasks: ReadonlySet<string>[];
  /** For several tasks: the request of each on its own. */
  alone?: string[];
  /** Tools that must not come first. */
  excluded?: ReadonlySet<string>;
}
