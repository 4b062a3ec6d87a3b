/** A request that code made, and what answers it. */

/** A request that was made. */
export interface MadeRequest {
  query: string;
  /** Ids of tools by task: one set for each thing that is asked for. */
  tasks: ReadonlySet<string>[];
  /** Where several things are asked for: each of them by itself. */
  alone?: string[];
  /** What must not come first. */
  excluded?: ReadonlySet<string>;
}
