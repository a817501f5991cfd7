/**
 * Storage of zod's configuration and registry. Zod uses `globalThis`, where a page could replace both and read or change
 * the schemas of an adapter. The build makes zod use this object instead.
 */
export const zodGlobal: Record<string, unknown> = {};
