/** The description of a request header in the OpenAPI document. */
interface RequestHeader {
  readonly description: string
  readonly isRequired: boolean
  readonly example: string
}

/** Request headers that only some routes read. */
export const requestHeaders = {
  'ai-language-model-id': { description: 'Id or alias of the model.', isRequired: true, example: 'gpt-5-mini' },
  'ai-language-model-streaming': { description: 'Whether to stream the response: `true` or `false`.', isRequired: false, example: 'true' },
} as const satisfies Readonly<Record<string, RequestHeader>>

/** The name of a request header that only some routes read. */
export type RequestHeaderName = keyof typeof requestHeaders
