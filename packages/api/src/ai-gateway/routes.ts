import { inferenceErrors } from '../inference/error-codes.ts'
import { inferenceHandler } from '../inference/infer.ts'
import type { Route } from '../route.ts'

/** The routes of the protocol of `@ai-sdk/gateway`. */
export const aiGatewayRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/v4/ai/language-model',
    needs: ['inference:invoke'],
    rate: 'inference',
    tier: 'preview',
    summary: 'Create a response, optionally streamed, in the protocol of `@ai-sdk/gateway`.',
    dialect: 'ai-sdk',
    query: [],
    headers: ['ai-language-model-id', 'ai-language-model-streaming'],
    body: 'LanguageModelCall',
    reply: 'LanguageModelResult',
    stream: 'LanguageModelStreamPart',
    errors: inferenceErrors,
    handler: inferenceHandler('ai-sdk'),
  },
  {
    method: 'GET',
    path: '/v4/ai/config',
    needs: 'any key',
    rate: 'reads',
    tier: 'preview',
    summary: 'List the models, as `getAvailableModels` of `@ai-sdk/gateway` reads them.',
    dialect: 'ai-sdk',
    cache: 'private',
    query: [],
    reply: 'LanguageModelList',
    errors: [],
    handler: async (call, caller) => (await import('../lazy-imports.ts')).listLanguageModels(call, caller),
  },
  {
    method: 'GET',
    path: '/v1/credits',
    needs: ['billing:read'],
    rate: 'reads',
    tier: 'preview',
    summary: 'Get the credit of the workspace, as `getCredits` of `@ai-sdk/gateway` reads it.',
    dialect: 'ai-sdk',
    query: [],
    reply: 'Credits',
    errors: ['service_unavailable'],
    handler: async (call, caller) => (await import('../lazy-imports.ts')).readCredits(call, caller),
  },
]
