/**
 * Where zod keeps its configuration and its registry. Zod itself uses `globalThis`, so a page could replace both and read
 * or change the schemas of an adapter; the build puts this object in its place.
 */
export const zodGlobal: Record<string, unknown> = {};
