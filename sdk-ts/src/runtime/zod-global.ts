/**
 * Stores zod's configuration and schema registry, which zod normally keeps on `globalThis`. On `globalThis`, a page
 * could replace zod's configuration and registry, and so read or change an adapter's schemas. The build makes zod use
 * zodGlobal instead of `globalThis`.
 */
export const zodGlobal: Record<string, unknown> = {};
