import * as z from 'zod'
import { catalogSchemas } from './catalog/schemas.ts'
import { chatCompletion, createChatCompletion } from './inference/chat-schemas.ts'
import { countTokens, createMessage, message, messagesError } from './inference/messages-schemas.ts'
import { createResponse, response } from './inference/schemas.ts'
import { managementSchemas } from './management/schemas.ts'

/** Every body that the API takes or gives, for the OpenAPI document. Made when asked for: nothing is built on import. */
export const makeSchemas = () => ({
  CreateResponse: createResponse(),
  Response: response(),
  CreateChatCompletion: createChatCompletion(),
  ChatCompletion: chatCompletion(),
  CreateMessage: createMessage(),
  Message: message(),
  CountTokens: countTokens(),
  TokenCount: z.object({ input_tokens: z.int() }),
  ...catalogSchemas(),
  Identity: identity(),
  ...managementSchemas(),
  OpenApi: z.looseObject({ openapi: z.string() }).meta({ description: 'An OpenAPI 3.1 document.' }),
  Health: z.object({ status: z.enum(['ok', 'not_ready']), problems: z.array(z.string()).optional() }),
  Error: error(),
  MessagesError: messagesError(),
})

export type Schemas = ReturnType<typeof makeSchemas>
export type SchemaName = keyof Schemas

const identity = () =>
  z.object({
    credential_type: z.literal('api_key'),
    status: z.literal('active'),
    profile: z.enum(['inference', 'management', 'mixed']),
    key_id: z.uuid(),
    key_prefix: z.string(),
    key_name: z.string(),
    workspace: z.object({ id: z.string(), name: z.string() }),
    scopes: z.array(z.string()),
    rate_limits: z.object({ inference_rpm: z.int(), management_reads_rpm: z.int(), management_writes_rpm: z.int() }),
    expires_at: z.iso.datetime().nullable(),
    created_at: z.iso.datetime(),
  })

const error = () =>
  z.object({
    error: z.looseObject({
      message: z.string(),
      type: z.string(),
      param: z.string().nullable(),
      code: z.string(),
      suggestion: z.string().optional(),
      doc_url: z.string().optional(),
    }),
  })
