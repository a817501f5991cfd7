/** Fields are the properties of an object that has not been validated. */
export type Fields = Readonly<Record<string, unknown>>;

/** isRecord reports whether a value is an object that is neither null nor an array. */
export function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
