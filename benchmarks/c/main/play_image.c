/* Plays the episodes of a game that lies in a file, for tools that watch a whole program.
 *
 * The file: its header; the places of all pointers, each of which holds an offset into the content; the content.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../triple_q.h"

void play_triple_q(game *, triple_q *);

int main(int count, char **arguments)
{
    int64_t header[4]; /* bytes of the content, pointers, places of the game and of the learner */
    FILE *file = count == 3 ? fopen(arguments[1], "rb") : NULL;
    if (!file || fread(header, sizeof header, 1, file) != 1)
        return 1;
    int64_t *places = malloc(sizeof(int64_t) * (size_t)header[1]);
    char *content = aligned_alloc(64, (size_t)header[0]);
    if (!places || !content || fread(places, sizeof(int64_t), (size_t)header[1], file) != (size_t)header[1] ||
        fread(content, (size_t)header[0], 1, file) != 1)
        return 1;
    for (int64_t i = 0; i < header[1]; i++) {
        int64_t offset;
        memcpy(&offset, content + places[i], sizeof offset);
        char *target = content + offset;
        memcpy(content + places[i], &target, sizeof target);
    }
    game *g = (game *)(content + header[2]);
    g->n = atoll(arguments[2]);
    play_triple_q(g, (triple_q *)(content + header[3]));
    printf("%.17g\n", g->reward[0]);
    return 0;
}
