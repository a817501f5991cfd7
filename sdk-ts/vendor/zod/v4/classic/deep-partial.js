import { visit } from "../core/visit.js";
import * as schemas from "./schemas.js";
export function deepPartial(schema) {
  return visit(schema, {
    object: (s) => s.partial(),
    // Every partialed option now admits `undefined`, which the constructor rejects as a duplicate.
    union: (s) => {
      const def = s._zod.def;
      return def.discriminator === void 0 ? s : schemas.union(def.options);
    }
  });
}
