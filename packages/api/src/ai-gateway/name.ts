/** The name of the AI SDK's dialect, which is loaded when a request first needs it. */
export const aiSdkName = 'ai-sdk'
