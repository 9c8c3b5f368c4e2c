export * from '@signalbox/core/in-process'
