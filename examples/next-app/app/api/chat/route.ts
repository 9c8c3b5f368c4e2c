// What `useChat` posts to: the gateway in process, as the user who is signed in.
import {
  APICallError,
  convertToModelMessages,
  createUIMessageStreamResponse,
  streamText,
  toUIMessageStream,
  type UIMessage,
} from 'ai'
import { signalbox } from 'signalbox/ai-sdk'
import { gateway, gatewayUser } from '@/gateway'
import { signedInUser } from '@/session'

export async function POST(request: Request): Promise<Response> {
  const user = await signedInUser()
  if (!user) return new Response('Please sign in again.', { status: 401 })
  const { messages } = (await request.json()) as { messages: UIMessage[] }
  const caller = await gateway.workspaces('my-app').asUser(gatewayUser(user))
  const { stream } = streamText({
    model: signalbox(gateway, { caller })('assistant'),
    messages: await convertToModelMessages(messages),
    maxOutputTokens: 500, // The budget must have room for an answer of this length.
    abortSignal: request.signal,
    onError: () => {}, // Without it, `streamText` prints each refusal to the console.
  })
  return createUIMessageStreamResponse({
    stream: toUIMessageStream({ stream, onError: messageFor }),
  })
}

/** What the user reads. Without it, the AI SDK shows no reason at all. */
function messageFor(error: unknown): string {
  const status = APICallError.isInstance(error) ? error.statusCode : undefined
  if (status === 402)
    return 'Your budget for today is used up. It is full again at midnight.'
  if (status === 429) return 'That was a lot of messages. Please wait a minute.'
  return 'The answer could not be completed. Please try again.'
}
