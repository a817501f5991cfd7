/**
 * Stores zod's configuration and schema registry, which zod normally keeps on `globalThis`. There, a page could replace
 * both, and read or change an adapter's schemas. The build makes zod use zodGlobal instead of `globalThis`.
 */
export const zodGlobal: Record<string, unknown> = {};
