/** The objects of a namespace, by their names: what the rooms need of a `DurableObjectNamespace`, without the class behind it. */
export interface ObjectsByName<T> {
  getByName(name: string): T;
}
