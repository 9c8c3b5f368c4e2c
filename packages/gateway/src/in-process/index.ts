// The inference endpoints without HTTP: the bodies and events of `gateway.responses`, `gateway.chat` and `gateway.messages`.

export { checkBody } from './body.ts'
export type { ChatCompletion, ChatCompletionChunk, CreateChatCompletion } from './chat.ts'
export { callerOf, type Endpoint, type EndpointOptions } from './create.ts'
export type { Endpoints } from './endpoints.ts'
export type { CountTokens, CreateMessage, MessageObject, MessageStreamEvent } from './messages.ts'
export type { CreateResponse, InputItem, OutputItem, ResponseObject, ResponseStreamEvent } from './responses.ts'
