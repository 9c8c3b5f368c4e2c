// Provider responses in each built-in dialect, as scripted and chaos providers send them.

export type { RecordedDialect } from '../recorded.ts'
export type { ReplyContext, ScriptedCall } from '../scripted-provider.ts'
export {
  type AnswerContent,
  type AnswerError,
  type AnswerRequest,
  type AnswerToolCall,
  type AnswerUsage,
  type AnswerWriter,
  defaultText,
  sse,
  type WrittenAnswer,
} from './answer.ts'
export { answerWriters, type CannedAnswerName, cannedAnswers } from './writers.ts'
