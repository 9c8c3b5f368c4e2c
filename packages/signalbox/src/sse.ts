export * from '@signalbox/core/sse'
