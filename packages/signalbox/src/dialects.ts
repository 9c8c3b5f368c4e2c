export * from '@signalbox/core/dialects'
