import { callerBudgetFields } from '@signalbox/core/resources'
import * as z from 'zod/v4'
import { aiGatewaySchemas, languageModelCall } from './ai-gateway/schemas.ts'
import { catalogSchemas } from './catalog/schemas.ts'
import { chatCompletion, chatCompletionChunk, createChatCompletion } from './inference/chat-schemas.ts'
import { countTokens, createMessage, messagesError, messagesSchemas, tokenCount } from './inference/messages-schemas.ts'
import { compactResponse, createResponse, responsesSchemas } from './inference/responses-schemas.ts'
import { resourceSchema } from './management/resource-schema.ts'
import { managementSchemas } from './management/schemas.ts'
import { closedObject, integerField, listField, openObject, textField } from './schema-fields.ts'

/** The schemas of all request and response bodies, for the OpenAPI document. */
export const makeSchemas = (): Readonly<Record<string, z.ZodType>> => ({
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
  OpenApi: openObject('An OpenAPI 3.1 document.', { openapi: textField('Version of the format.', '3.1.0') }),
  Home: home(),
  Health: health(),
  Error: error(),
  MessagesError: messagesError(),
})

const home = () =>
  closedObject('Where the API and its documents are.', {
    name: z.literal('Signalbox').describe('Always `Signalbox`.'),
    documents: textField('URL of the documents.'),
    openapi: textField('Path of the OpenAPI document.', '/v1/openapi.json'),
    models: textField('Path of the models that a key may call.', '/v1/models'),
    health: textField('Path of the health check.', '/healthz'),
  })

const health = () =>
  closedObject('The state of the service.', {
    status: z.enum(['ok', 'not_ready']).describe('Whether requests can be served.'),
    problems: z.array(z.string()).optional().describe('Problems that prevent requests from being served.'),
    notices: z.array(z.string()).optional().describe('Notices for the operator that do not prevent requests from being served.'),
  })

const identity = () =>
  closedObject('The key of the request.', {
    credential_type: z.enum(['api_key', 'user']).describe('`api_key`, or `user` for a user signed in by the app.'),
    status: z.literal('active').describe('Always `active`; requests with other keys get 401.'),
    profile: z.enum(['inference', 'management', 'mixed']).describe('The kind of scopes that the key has.'),
    key_id: textField('Id of the key, or `user:` and the id of the user.'),
    key_prefix: textField('First characters of the key, to identify it.', 'ak_5f3a'),
    key_name: textField('Name of the key.', 'backend'),
    workspace: closedObject('The workspace that the key belongs to.', {
      id: textField('Id of the workspace.', 'my-app'),
      name: textField('Name of the workspace.', 'default'),
    }),
    scopes: z.array(z.string()).meta({ description: 'What the key may do.', example: ['inference:invoke'] }),
    rate_limits: closedObject('Rate limits of the key.', {
      inference_rpm: integerField('Inference requests per minute.', 600),
      management_reads_rpm: integerField('Management reads per minute.', 300),
      management_writes_rpm: integerField('Management writes per minute.', 60),
    }),
    budgets: listField(
      'The budgets that requests count against. For a user, only its own budgets, not shared ones.',
      resourceSchema(callerBudgetFields, 'reply'),
    ),
    expires_at: z.iso.datetime().nullable().describe('When the key expires; null: never.'),
    created_at: z.iso.datetime().describe('When the key was created.'),
  })

const error = () =>
  closedObject('An error.', {
    error: openObject('The error.', {
      message: textField('What happened and how to fix it.'),
      type: textField('Kind of error.'),
      param: z.string().nullable().describe('Path of the invalid field, or null.'),
      code: textField('Error code.'),
      suggestion: z.string().optional().describe('A suggestion, such as the nearest known name.'),
      doc_url: z.string().optional().describe('Link to the documentation of the error.'),
      provider: z.string().optional().describe('Provider that failed.'),
      attempts: z.array(z.looseObject({})).optional().describe('The providers that were tried, and how each failed.'),
    }),
  })
