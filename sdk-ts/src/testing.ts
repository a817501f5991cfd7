// The package entry `@opentabs/sdk/testing`, for tests of plugins. `test` and `simulate` work only under `opentabs
// plugin test`; `makeContext` and `expect` work in any test runner.

export { type Expectation, expect } from './simulator/expect.ts';
export type { RouteAnswer, RouteRequest, Routes } from './simulator/http.ts';
export { test } from './simulator/runner.ts';
export {
  type CallOptions,
  type SimulatedCall,
  type SimulatedError,
  type SimulatedTab,
  type SimulateOptions,
  simulate,
} from './simulator/tab.ts';
export {
  type ContextScript,
  makeContext,
  type RecordedActivity,
  type RecordedCall,
  type TestContext,
} from './testing-context.ts';
