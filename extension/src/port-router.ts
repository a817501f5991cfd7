// Validates port messages with one reader per operation, and routes them to one handler per operation. Messages from
// the server are validated and routed by worker/link/handlers.ts.

import { type Fields, isRecord } from './record.ts';

interface PortMessage {
  readonly op: string;
}

/** PortReaders must contain one reader for each operation, so that a missing reader is a compile error. */
export type PortReaders<M extends PortMessage> = {
  readonly [Op in M['op']]: (fields: Fields) => Extract<M, { readonly op: Op }> | undefined;
};

export function readMessage<M extends PortMessage>(readers: PortReaders<M>, value: unknown): M | undefined {
  if (!isRecord(value)) return undefined;
  const { op } = value;
  return hasReader(readers, op) ? readers[op](value) : undefined;
}

function hasReader<M extends PortMessage>(readers: PortReaders<M>, op: unknown): op is M['op'] {
  return typeof op === 'string' && Object.hasOwn(readers, op);
}

export type PortHandlers<M extends PortMessage, Context extends unknown[] = [], Result = void> = {
  readonly [Op in M['op']]: (portMessage: Extract<M, { readonly op: Op }>, ...context: Context) => Result;
};

/**
 * The parameter `op` must equal message.op. Because of this parameter, the compiler can match the handler with the
 * message's type.
 */
export function routeMessage<M extends PortMessage, Op extends M['op'], Context extends unknown[], Result>(
  handlers: PortHandlers<M, Context, Result>,
  op: Op,
  portMessage: Extract<M, { readonly op: Op }>,
  ...context: Context
): Result {
  return handlers[op](portMessage, ...context);
}
