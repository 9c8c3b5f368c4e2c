import type { IncomingMessage, ServerResponse } from 'node:http'

const waiting = new WeakSet<IncomingMessage>()

/** Records that the client sends the body only after `100 Continue`, which Node has not sent. */
export const expectContinue = (request: IncomingMessage): void => void waiting.add(request)

/** Sends `100 Continue` if the client waits for it. Called when the body is about to be read. */
export function sendContinue(request: IncomingMessage, response: ServerResponse): void {
  if (waiting.delete(request)) response.writeContinue()
}
