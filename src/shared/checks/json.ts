/** JSON as a type: what may travel in a spec, a record or an RPC call. */
export type JsonValue =
  string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

export type JsonObject = Record<string, JsonValue>;
