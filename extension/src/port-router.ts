// Validates port messages with one reader per operation, and routes them to one handler per operation. Messages from
// the server are validated and routed by worker/link/handlers.ts.

import { type Fields, isRecord } from './record.ts';

/** PortMessage is a message with an operation, such as FromBridge, ToBridge, ToPanel or Action. */
interface PortMessage {
  readonly op: string;
}

/**
 * PortReaders contains one reader for each operation of the messages M, so that a missing reader is a compile error. A
 * reader returns undefined if a field of the message has a wrong type.
 */
export type PortReaders<M extends PortMessage> = {
  readonly [Op in M['op']]: (fields: Fields) => Extract<M, { readonly op: Op }> | undefined;
};

/**
 * readMessage validates a message, and returns undefined for an invalid message, such as a message of another version.
 */
export function readMessage<M extends PortMessage>(readers: PortReaders<M>, value: unknown): M | undefined {
  if (!isRecord(value)) return undefined;
  const { op } = value;
  return hasReader(readers, op) ? readers[op](value) : undefined;
}

function hasReader<M extends PortMessage>(readers: PortReaders<M>, op: unknown): op is M['op'] {
  return typeof op === 'string' && Object.hasOwn(readers, op);
}

/**
 * PortHandlers contains one handler for each operation of the messages M, so that a missing handler is a compile error.
 * Context lists the types of the further arguments that each handler receives, such as the document that sent the
 * message.
 */
export type PortHandlers<M extends PortMessage, Context extends unknown[] = [], Result = void> = {
  readonly [Op in M['op']]: (message: Extract<M, { readonly op: Op }>, ...context: Context) => Result;
};

/**
 * routeMessage calls the handler for the operation of a message. The parameter op must equal message.op: it allows the
 * compiler to match the handler with the message's type.
 */
export function routeMessage<M extends PortMessage, Op extends M['op'], Context extends unknown[], Result>(
  handlers: PortHandlers<M, Context, Result>,
  op: Op,
  message: Extract<M, { readonly op: Op }>,
  ...context: Context
): Result {
  return handlers[op](message, ...context);
}
