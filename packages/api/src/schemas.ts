import { callerBudgetFields } from '@signalbox/core/resources'
import * as z from 'zod/v4'
import { languageModelCall } from './ai-gateway/request-schema.ts'
import { aiGatewaySchemas } from './ai-gateway/response-schema.ts'
import { catalogSchemas } from './catalog/schemas.ts'
import { createChatCompletion } from './inference/chat/request-schema.ts'
import { chatCompletion, chatCompletionChunk } from './inference/chat/response-schema.ts'
import { countTokens, createMessage } from './inference/messages/request-schema.ts'
import { messagesError, messagesSchemas, tokenCount } from './inference/messages/response-schema.ts'
import { compactResponse, createResponse } from './inference/responses/request-schema.ts'
import { responsesSchemas } from './inference/responses/response-schema.ts'
import { managementSchemas } from './management/schemas/index.ts'
import { resourceSchema } from './management/schemas/resource.ts'

/** The schemas of all request and response bodies, for the OpenAPI document. */
export const makeSchemas = () => ({
  CreateResponse: createResponse(),
  CompactResponse: compactResponse(),
  ...responsesSchemas(),
  CreateChatCompletion: createChatCompletion(),
  ChatCompletion: chatCompletion(),
  ChatCompletionChunk: chatCompletionChunk(),
  CreateMessage: createMessage(),
  ...messagesSchemas(),
  CountTokens: countTokens(),
  TokenCount: tokenCount(),
  LanguageModelCall: languageModelCall(),
  ...aiGatewaySchemas(),
  ...catalogSchemas(),
  Identity: identity(),
  ...managementSchemas(),
  OpenApi: z
    .looseObject({ openapi: z.string().meta({ description: 'Version of the format.', example: '3.1.0' }) })
    .describe('An OpenAPI 3.1 document.'),
  Health: health(),
  Error: error(),
  MessagesError: messagesError(),
})

type Schemas = ReturnType<typeof makeSchemas>

/** The name of a request or response body in the OpenAPI document. */
export type SchemaName = keyof Schemas

const health = () =>
  z
    .object({
      status: z.enum(['ok', 'not_ready']).describe('Whether requests can be served.'),
      problems: z.array(z.string()).optional().describe('Problems that prevent requests from being served.'),
      notices: z.array(z.string()).optional().describe('Notices for the operator that do not prevent requests from being served.'),
    })
    .describe('The state of the service.')

const identity = () =>
  z
    .object({
      credential_type: z.enum(['api_key', 'user']).describe('`api_key`, or `user` for a user signed in by the app.'),
      status: z.literal('active').describe('Always `active`; requests with other keys get 401.'),
      profile: z.enum(['inference', 'management', 'mixed']).describe('The kind of scopes that the key has.'),
      key_id: z.string().describe('Id of the key, or `user:` and the id of the user.'),
      key_prefix: z.string().meta({ description: 'First characters of the key, to identify it.', example: 'ak_5f3a' }),
      key_name: z.string().meta({ description: 'Name of the key.', example: 'backend' }),
      workspace: z
        .object({
          id: z.string().meta({ description: 'Id of the workspace.', example: 'my-app' }),
          name: z.string().meta({ description: 'Name of the workspace.', example: 'default' }),
        })
        .describe('The workspace that the key belongs to.'),
      scopes: z.array(z.string()).meta({ description: 'What the key may do.', example: ['inference:invoke'] }),
      rate_limits: z
        .object({
          inference_rpm: z.int().meta({ description: 'Inference requests per minute.', example: 600 }),
          management_reads_rpm: z.int().meta({ description: 'Management reads per minute.', example: 300 }),
          management_writes_rpm: z.int().meta({ description: 'Management writes per minute.', example: 60 }),
        })
        .describe('Rate limits of the key.'),
      budgets: z
        .array(resourceSchema(callerBudgetFields, 'reply'))
        .describe('The budgets that requests count against. For a user, only its own budgets, not shared ones.'),
      expires_at: z.iso.datetime().nullable().describe('When the key expires; null: never.'),
      created_at: z.iso.datetime().describe('When the key was created.'),
    })
    .describe('The key of the request.')

const error = () =>
  z
    .object({
      error: z
        .looseObject({
          message: z.string().describe('What happened and how to fix it.'),
          type: z.string().describe('Kind of error.'),
          param: z.string().nullable().describe('Path of the invalid field, or null.'),
          code: z.string().describe('Error code.'),
          suggestion: z.string().optional().describe('A suggestion, such as the nearest known name.'),
          doc_url: z.string().optional().describe('Link to the documentation of the error.'),
          provider: z.string().optional().describe('Provider that failed.'),
          attempts: z.array(z.looseObject({})).optional().describe('The providers that were tried, and how each failed.'),
        })
        .describe('The error.'),
    })
    .describe('An error.')
