/** A namespace of Durable Objects by name: what the rooms need of a `DurableObjectNamespace`, without the class behind it. */
export interface ObjectsByName<T> {
  getByName(name: string): T;
}
