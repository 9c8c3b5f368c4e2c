export * from '@signalbox/core/errors'
