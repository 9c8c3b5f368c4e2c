export * from '@signalbox/ai-sdk'
