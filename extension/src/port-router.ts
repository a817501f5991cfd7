// Routes port messages to one handler per operation, as worker/link/handlers.ts does for frames of the server.

/** PortMessage is a message with an operation, such as FromBridge, ToBridge, ToPanel or Action. */
interface PortMessage {
  readonly op: string;
}

/**
 * PortHandlers has one handler for each operation of the messages M, so that code without a handler for an operation does
 * not compile. Context is what handlers get beside the message, such as the document that sent it.
 */
export type PortHandlers<M extends PortMessage, Context extends unknown[] = [], Result = void> = {
  readonly [Op in M['op']]: (message: Extract<M, { readonly op: Op }>, ...context: Context) => Result;
};

/** route calls the handler of a message. op is message.op: the compiler needs both to match the handler with the message. */
export function route<M extends PortMessage, Op extends M['op'], Context extends unknown[], Result>(
  handlers: PortHandlers<M, Context, Result>,
  op: Op,
  message: Extract<M, { readonly op: Op }>,
  ...context: Context
): Result {
  return handlers[op](message, ...context);
}
