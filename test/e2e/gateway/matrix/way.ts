/** How the probes of the matrix call tools: by their names, or through `call_tool` on an endpoint that lists three tools. */
export const way = { isThrough: false };
