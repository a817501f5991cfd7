/** Fields are the fields of an object that was not validated. */
export type Fields = Readonly<Record<string, unknown>>;

/** isRecord reports whether value is an object, so that its fields can be read. */
export function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
