/**
 * Storage of zod's configuration and registry. Zod itself uses `globalThis`, where a page could replace the
 * configuration and the registry, and so read or change the schemas of an adapter. The build makes zod use zodGlobal
 * instead of `globalThis`.
 */
export const zodGlobal: Record<string, unknown> = {};
