import { aiGatewayRoutes } from './ai-gateway/routes.ts'
import { catalogRoutes } from './catalog/routes.ts'
import { viewReply } from './catalog/views.ts'
import { alive, ready } from './health.ts'
import { me } from './identity.ts'
import { compactResponses } from './inference/compact.ts'
import { countTokens } from './inference/count.ts'
import { countingErrors, inferenceErrors } from './inference/error-codes.ts'
import { infer } from './inference/infer.ts'
import { beta } from './query.ts'
import type { Route } from './route.ts'

/** Conventions of clients of the Messages API. */
const messagesManners = { dialect: 'messages', keyHeader: 'x-api-key', idHeader: 'request-id', query: [beta] } as const

/** All rows but those of management: what a program that only serves inference loads. */
export const routes: readonly Route[] = [
  {
    method: 'POST',
    path: '/v1/responses',
    needs: ['inference:invoke'],
    rate: 'inference',
    tier: 'preview',
    summary: 'Create a response, whole or streamed.',
    dialect: 'responses',
    endpoint: 'responses',
    webSocket: true,
    query: [],
    body: 'CreateResponse',
    reply: 'Response',
    stream: 'ResponseStreamEvent',
    errors: inferenceErrors,
    handler: infer('responses'),
  },
  {
    method: 'POST',
    path: '/v1/responses/compact',
    needs: ['inference:invoke'],
    rate: 'inference',
    tier: 'preview',
    summary:
      'Compact a conversation: the model asked summarizes it, and the reply is the items to send instead of it. Billed as one request.',
    dialect: 'responses',
    query: [],
    body: 'CompactResponse',
    reply: 'CompactedResponse',
    errors: inferenceErrors,
    handler: compactResponses,
  },
  {
    method: 'POST',
    path: '/v1/chat/completions',
    needs: ['inference:invoke'],
    rate: 'inference',
    tier: 'stable',
    summary: 'Create a chat completion, whole or streamed.',
    dialect: 'chat',
    endpoint: 'chat_completions',
    query: [],
    body: 'CreateChatCompletion',
    reply: 'ChatCompletion',
    stream: 'ChatCompletionChunk',
    errors: inferenceErrors,
    handler: infer('chat'),
  },
  {
    ...messagesManners,
    method: 'POST',
    path: '/v1/messages',
    needs: ['inference:invoke'],
    rate: 'inference',
    tier: 'preview',
    summary: 'Create a message, whole or streamed.',
    endpoint: 'messages',
    body: 'CreateMessage',
    reply: 'Message',
    stream: 'MessageStreamEvent',
    errors: inferenceErrors,
    handler: infer('messages'),
  },
  {
    ...messagesManners,
    method: 'POST',
    path: '/v1/messages/count_tokens',
    needs: ['inference:invoke'],
    rate: 'inference',
    tier: 'preview',
    summary:
      'Count the input tokens of a message without creating it: by the counter of its provider, else by an estimate, which `X-Token-Count: estimated` tells.',
    body: 'CountTokens',
    reply: 'TokenCount',
    replyHeaders: ['X-Token-Count'],
    errors: countingErrors,
    handler: countTokens('messages'),
  },
  ...aiGatewayRoutes,
  ...catalogRoutes,
  {
    method: 'GET',
    path: '/v1/me',
    client: 'me',
    needs: 'any key',
    rate: 'reads',
    tier: 'preview',
    summary: 'Get the key of the request: its scopes, its limits and what is left of its budgets.',
    query: [],
    reply: 'Identity',
    replyHeaders: ['X-Budget-Limit-USD', 'X-Budget-Used-USD', 'X-Budget-Remaining-USD', 'X-Budget-Reset'],
    errors: ['unknown_parameter', 'service_unavailable'],
    handler: me,
  },
  {
    method: 'GET',
    path: '/v1/openapi.json',
    needs: 'nothing',
    rate: 'none',
    tier: 'stable',
    summary: 'Get this OpenAPI document.',
    cache: 'public',
    query: [],
    reply: 'OpenApi',
    errors: ['unknown_parameter'],
    handler: async ({ site, request }) => viewReply(await site.document(request.mount)),
  },
  {
    method: 'GET',
    path: '/healthz',
    needs: 'nothing',
    rate: 'none',
    tier: 'stable',
    summary: 'Check that the process is running.',
    reply: 'Health',
    errors: [],
    handler: alive,
  },
  {
    method: 'GET',
    path: '/readyz',
    needs: 'nothing',
    rate: 'none',
    tier: 'stable',
    summary: 'Check whether requests can be served. 503 lists what is not ready.',
    reply: 'Health',
    orStatus: 503,
    errors: [],
    handler: ready,
  },
]
