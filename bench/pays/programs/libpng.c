/* Writes and reads pictures in memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "png.h"

static unsigned state = 42;
static unsigned next(void) { return state = state * 1103515245u + 12345u, state >> 8; }

static int picture(int round, int other, unsigned *sum) {
	enum { SIZE = 160 };
	static unsigned char from[SIZE * SIZE * 4], to[SIZE * SIZE * 4];
	png_image image;
	png_alloc_size_t bytes = 0;
	void *file;
	memset(&image, 0, sizeof image);
	image.version = PNG_IMAGE_VERSION;
	image.width = image.height = SIZE;
	image.format = round % 2 ? PNG_FORMAT_RGB : PNG_FORMAT_RGBA;
	for (size_t i = 0; i < PNG_IMAGE_SIZE(image); i++) from[i] = i / 7 + next() % (other ? 64 : 8);
	if (!png_image_write_to_memory(&image, NULL, &bytes, 0, from, 0, NULL)) return 0;
	file = malloc(bytes);
	if (!png_image_write_to_memory(&image, file, &bytes, 0, from, 0, NULL)) return 0;
	memset(&image, 0, sizeof image);
	image.version = PNG_IMAGE_VERSION;
	if (!png_image_begin_read_from_memory(&image, file, bytes)) return 0;
	image.format = round % 3 ? PNG_FORMAT_RGBA : PNG_FORMAT_GRAY;
	if (!png_image_finish_read(&image, NULL, to, 0, NULL)) return 0;
	for (size_t i = 0; i < PNG_IMAGE_SIZE(image); i++) *sum += to[i];
	free(file);
	return 1;
}

int main(int argc, char **argv) {
	int other = argc > 1 && !strcmp(argv[1], "other");
	unsigned sum = 0;
	for (int round = 0; round < (other ? 4 : 6); round++)
		if (!picture(round, other, &sum)) return 1;
	printf("%u\n", sum);
	return 0;
}
