import type { OutputFidelity } from '../common/output-features.ts'

export const outputFidelity: OutputFidelity = {
  text: 'kept',
  refusal: 'kept',
  reasoning: 'kept',
  reasoningState: 'kept',
  functionCall: 'kept',
  customCall: 'kept',
  image: 'kept',
  webCitation: 'kept',
  fileCitation: 'kept',
  documentCitation: 'dropped',
  clientTool: 'kept',
  hostedTool: 'kept',
  other: 'dropped',
}
